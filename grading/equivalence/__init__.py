"""Whether two expressions are equal on a declared domain: sample points, evaluation, normal form, decision."""
