"""How the embedded judge is made: data, network, training loop, and the file it ships as."""
