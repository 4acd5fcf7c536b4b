"""Mutated files and hostile command lines, in processes of their own: `python -m fuzz`, or `make fuzz`.

    __main__        the command: how many inputs, of which kinds, from which seed; the table of what came of them
    campaign        one warmed-up server a core, which forks a child for every hundred inputs
    sandbox         the child: for each input limits of memory and time, an empty folder, and the doors that users come
                    through; what is found is looked for again in a child that has had no other input
    verdicts        what counts as a finding
    specimens       whole files to start from, with planted secrets beside them
    hostile         values, trees and bytes that nobody meant
    kinds/          one input a call: published files, databases, records, project files and command lines

An input is known by its kind, its number and the seed: the same three give the same input again.
"""
