"""rag_cover for LlamaIndex: its evaluators, recording, postprocessors, retrievers and routers, as LlamaIndex's own parts."""
