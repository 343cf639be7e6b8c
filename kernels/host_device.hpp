// Marks for code that g++ and nvcc both compile. A kernel's body runs on the device alone when nvcc compiles it, and
// anywhere when g++ does; scalar helpers run on both sides in both compilers.
#pragma once

#if defined(__CUDACC__)
#define REHEARSE_BODY __device__
#define REHEARSE_SCALAR __host__ __device__ inline
#else
#define REHEARSE_BODY
#define REHEARSE_SCALAR inline
#endif
