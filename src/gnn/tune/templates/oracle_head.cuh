#include <cuda_bf16.h>
#include <cuda_fp16.h>

// `hone tasks check` compiles the oracle again with other definitions of these, to see what a kernel of lower precision
// would answer: the type sums are kept in, how inputs are read, how intermediate values are kept.
#ifndef HONE_ORACLE_ACC
#define HONE_ORACLE_ACC double
#endif
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif
