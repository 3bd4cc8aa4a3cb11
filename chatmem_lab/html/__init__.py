"""Plain values into escaped HTML and SVG strings: no script, no dependency, light and dark.

Everything here takes strings, numbers, tuples, lists and mappings, and knows nothing of the
rest of the package. Texts are hostile until they are escaped; sizes are bounded, and what is
cut is said.
"""
