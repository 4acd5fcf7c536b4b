"""Mutated files and hostile command lines, each in a process of its own: `python -m fuzz`, or `make fuzz`.

    __main__        the command: how many inputs, of which kinds, from which seed; the table of what came of them
    campaign        one warmed-up server a core, which forks a child for every input
    sandbox         the child: limits of memory and time, an empty folder, and the doors that users come through
    verdicts        what counts as a finding
    specimens       whole files to start from, with planted secrets beside them
    hostile         values, trees and bytes that nobody meant
    kinds/          one input a call: published files, databases, records, project files and command lines

An input is known by its kind, its number and the seed: the same three give the same input again.
"""
