"""The pages: one folder for a page, components for what they share; templates and styles in folders of the same names.

No rules of its own: a view reads frozen values through the doors of the apps and lays them out. Words of a page are in
its wording module, numbers are formatted by templatetags.
"""
