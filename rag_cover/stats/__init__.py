"""Statistics: numbers in, numbers out. Nothing here knows of models, traces or stores."""
