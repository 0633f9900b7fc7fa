"""Random noise with a given covariance for the probes: on the host, on a GPU, in the processes of an MPI job."""
