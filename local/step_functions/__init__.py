"""Step Functions as moto plays it, with JSONata, children and events as AWS has them."""
