"""What ``rag-cover init`` sees in a project, and the files that it writes for it."""
