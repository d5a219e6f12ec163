"""The five operators of the prediction pipeline, one file each; `domain/pipeline.py` lists them in order."""
