# Deploys a release of Storage Matrix by Terraform, from the release's folder: it puts the files of that folder into a
# bucket of yours in the provider's region, and makes the stack from them.
terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "bucket" {
  type        = string
  description = "A bucket of yours, in the region of the stack"
}

variable "notify_email" {
  type        = string
  default     = ""
  description = "Whom the stack tells when a run ends; AWS asks the address to confirm"
}

variable "permissions_boundary_arn" {
  type        = string
  default     = ""
  description = "The boundary of every role of the stack (docs/company.md)"
}

locals {
  # The folder has the name of the version.
  prefix = "storage-matrix/${basename(abspath(path.module))}/"
  files = setunion(
    ["template.yaml"],
    fileset(path.module, "*.zip"),
    fileset(path.module, "statemachine-*.yaml"),
  )
}

data "aws_s3_bucket" "artifacts" {
  bucket = var.bucket
}

resource "aws_s3_object" "release" {
  for_each = local.files
  bucket   = var.bucket
  key      = "${local.prefix}${each.value}"
  source   = "${path.module}/${each.value}"
  # Not etag: that is not an MD5 where a key of KMS encrypts the bucket.
  source_hash = filemd5("${path.module}/${each.value}")
}

resource "aws_cloudformation_stack" "storage_matrix" {
  name         = "storage-matrix"
  template_url = "https://${data.aws_s3_bucket.artifacts.bucket_regional_domain_name}/${aws_s3_object.release["template.yaml"].key}"
  capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
  parameters = {
    ArtifactBucket         = var.bucket
    ArtifactPrefix         = local.prefix
    NotifyEmail            = var.notify_email
    PermissionsBoundaryArn = var.permissions_boundary_arn
  }
  tags = {
    CostCenter = "4711"
  }
  depends_on = [aws_s3_object.release]
}

output "outputs" {
  value = aws_cloudformation_stack.storage_matrix.outputs
}
