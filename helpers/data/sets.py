"""All data sets, each with the function that loads it."""

from helpers.data.fashion_mnist import FASHION_MNIST, fashion_mnist
from helpers.data.mnist import MNIST, mnist
from helpers.data.reuters import REUTERS, reuters

DATA_SETS = ((FASHION_MNIST, fashion_mnist), (MNIST, mnist), (REUTERS, reuters))
