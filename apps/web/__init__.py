"""The pages: one folder per page, `components` for shared code; templates and styles in folders of the same names.

No rules of its own: a view reads frozen values through the public interfaces of the apps and lays them out. The texts
of a page are in its wording module; numbers are formatted by templatetags.
"""
