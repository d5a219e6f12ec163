"""The eleven stages, one file each; `scoring/pipeline.py` lists them in order."""
