"""The detection score: searches for every fault of the zoo, their data, and the page of them."""
