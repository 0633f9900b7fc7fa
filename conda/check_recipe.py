"""Read and render the recipe as rattler-build does; an entry that it does not know is an error."""

from __future__ import annotations

from pathlib import Path

from rattler_build import Stage0Recipe

recipe = Stage0Recipe.from_yaml((Path(__file__).parent / "recipe.yaml").read_text())
(variant,) = recipe.render()
print(f"the recipe renders: {variant.recipe.package.name} {variant.recipe.package.version}")
