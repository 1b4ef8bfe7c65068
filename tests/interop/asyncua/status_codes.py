"""Compares our table of status codes with asyncua's: status_codes.py CSV."""

import csv
import sys

from asyncua.ua.status_codes import StatusCodes


def main(path):
    with open(path, newline="", encoding="utf-8") as file:
        ours = {row["name"]: int(row["number"], 16) for row in csv.DictReader(file)}
    theirs = {name: number for name, number in vars(StatusCodes).items() if name[0] != "_"}
    plain = {name.replace("_", "", 1): number for name, number in ours.items()}
    differences = [
        f"{name}: {plain.get(name)} here, {theirs.get(name)} there"
        for name in sorted(plain.keys() | theirs.keys())
        if plain.get(name) != theirs.get(name)
    ]
    for difference in differences:
        print(difference)
    print(f"status codes: {len(ours)} here, {len(theirs)} in asyncua, {len(differences)} differ")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
