"""The cases: each a module with ``run(small) -> Result``, where ``small`` is a smoke test."""
