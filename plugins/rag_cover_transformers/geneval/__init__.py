"""GenEval (Gabburo et al., ACL Findings 2024): one network, two heads: answer correctness and token relevance.

No code and no weights of the paper were released; this is the model it describes, at any size of T5 or BERT.
"""
