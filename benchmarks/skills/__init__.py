"""Skills of pipelines and models, learnt from tables of outcomes."""
