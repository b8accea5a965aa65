"""Deploys a release of Storage Matrix by the AWS CDK, in the release's folder: `cdk deploy --app "python3 app.py"`."""

import os
from pathlib import Path

import aws_cdk
from aws_cdk.cloudformation_include import CfnInclude

# Without this the CDK writes the stack's tags into each resource; CloudFormation gives them to each anyway.
app = aws_cdk.App(context={"@aws-cdk/core:explicitStackTags": True}, analytics_reporting=False)
stack = aws_cdk.Stack(
    app,
    "storage-matrix",
    tags={"CostCenter": "4711"},
    # The template stays as it was released, so that `matrix verify` finds it the same.
    synthesizer=aws_cdk.DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
)
release = CfnInclude(stack, "Release", template_file=str(Path(__file__).with_name("template.yaml")))
for name, value in {
    "ArtifactBucket": os.environ["ARTIFACT_BUCKET"],  # has the files of this folder below storage-matrix/VERSION/
    "NotifyEmail": os.environ.get("NOTIFY_EMAIL", ""),
    "PermissionsBoundaryArn": os.environ.get("PERMISSIONS_BOUNDARY_ARN", ""),
}.items():
    release.get_parameter(name).default = value
app.synth()
