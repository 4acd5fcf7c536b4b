"""Private looks at the cells that choose what to measure: do they stand out in many places, and where are they flat?"""
