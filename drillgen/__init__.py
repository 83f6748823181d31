"""drillgen: drills on attention mathematics, generated and graded."""
