"""What slides over the axes of a space: convolution, pooling, padding, blocks of images."""
