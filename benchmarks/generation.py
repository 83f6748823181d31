"""Generation: complete problems per CPU second (text, answer, slips, hints, solution), drill by drill, and memory."""

import resource
import statistics
import time

from drillgen import catalog
from drillgen.instance import make
from drillgen.problemset import Selection, Stream, take

DRAWS = 200


def rate(card, drill, draws=DRAWS):
    """Complete problems per CPU second of one drill; its template is compiled before."""
    make(card, drill, 10**6).problem(answers=True)
    begun = time.process_time()
    for seed in range(draws):
        make(card, drill, seed).problem(answers=True)
    return draws / (time.process_time() - begun)


def main():
    """Every drill, then the stream's memory."""
    rates = {d.id: rate(c, d) for c, d in catalog.drills()}
    print("complete problems per CPU second, by drill")
    for id, value in sorted(rates.items(), key=lambda item: item[1]):
        print(f"  {id:<44}{value:>9,.0f}")
    print(
        f"{len(rates)} drills: median {statistics.median(rates.values()):,.0f}, slowest {min(rates.values()):,.0f}, "
        f"below 3,000: {sum(v < 3000 for v in rates.values())}, below 200: {sum(v < 200 for v in rates.values())}"
    )
    three = Selection(cards=("2", "13", "15"))
    begun = time.process_time()
    for one in take(Stream(three.chosen(), "bench"), 2000):
        one.problem(answers=True)
    print(f"a set of 2,000 of cards 2, 13, 15: {2000 / (time.process_time() - begun):,.0f} per CPU second")
    peaks = []
    stream = iter(Stream(Selection(kinds=("quantity", "number")).chosen(), "memory"))
    for count in (1000, 9000):
        for _ in range(count):
            next(stream).problem(answers=True)
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(f"peak memory after 1,000 problems {peaks[0]:.0f} MiB, after 10,000 {peaks[1]:.0f} MiB")


if __name__ == "__main__":
    main()
