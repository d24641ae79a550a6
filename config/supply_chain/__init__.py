"""What the product consists of and who may see it: advisories, licences, secrets in the repository, bills of materials.

Programs of `make check`, each of which needs the development environment.
"""
