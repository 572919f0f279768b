"""How a GenEval model is made: its examples, the training loop, and the folder it is opened from."""
