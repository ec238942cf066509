"""Recipes: one test file for each situation that programs with Kafka meet in production.

    pytest examples/recipes

Each file stands alone: a small program, and the test that puts it into the situation. Copy a file,
and replace the program by your own. `docs/recipes.md` lists them.
"""
