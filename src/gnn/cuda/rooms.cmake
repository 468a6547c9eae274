# The rooms of src/gnn/cuda, the lowest first, and what each of them holds. A room includes headers of itself and of the
# rooms that it USES; a test (check_rooms.cmake) holds that, and that every file is listed.
#   HOST      compiled by the host's compiler        KERNELS  compiled by nvcc
#   REPLACED  either, for which emulated/ has a counterpart: what needs a library or instructions of one GPU
#   TESTS     run on a GPU and on the emulated runtime
#   APART     files that are compiled by themselves: names of theirs are another file's too, or a library for Python takes
#             them alone (loader), or they are so large that others would wait for them (kernels)
macro(hone_gnn_cuda_room name)
  list(APPEND HONE_GNN_CUDA_ROOMS ${name})
  cmake_parse_arguments(HONE_GNN_CUDA_${name} "" "" "USES;HOST;KERNELS;REPLACED;TESTS;APART" ${ARGN})
endmacro()
set(HONE_GNN_CUDA_ROOMS "")

# What every other room speaks: owners of memory and handles, how a batch lies in memory, device code for rows and draws.
hone_gnn_cuda_room(base
  HOST cuda_support.cc device_parameters.cc peer_memory.cc peer_sockets.cc
  APART cuda_support.cc)

# A graph on the device, made or copied there, and its feature rows in whichever memory they are.
hone_gnn_cuda_room(graph USES base
  HOST device_graph.cc generate_features.cc generate_graph.cc host_rows.cc peer_rows.cc
  KERNELS generate_kernels.cu staging_kernels.cu
  TESTS generate_graph_test.cc host_rows_test.cc
  APART peer_rows.cc)

# Batches: the seeds of a step, the neighbors that are drawn for them, and the structure of what was drawn.
hone_gnn_cuda_room(sample USES base graph
  HOST all_neighbors.cc batch_buffers.cc largest_degree_of.cc sampled_blocks.cc
  KERNELS sample_kernels.cu sampled_blocks_kernels.cu source_kernels.cu step_weight.cu wide_sample_kernels.cu
  TESTS sampled_blocks_test.cc source_kernels_test.cc
  APART all_neighbors.cc sampled_blocks.cc source_kernels_test.cc)

# What a layer computes, a kernel or a product at a time, and the outermost hops, which draw and aggregate at once.
hone_gnn_cuda_room(kernels USES base graph sample
  KERNELS aggregate_kernels.cu attention_kernels.cu composed_weights.cu drawn_sums.cu edge_rows.cu few_rows_norm.cu gather_kernels.cu grouped_hop_sums.cu
    head_kernels.cu hop_sums.cu input_norm_kernels.cu layer_norm_kernels.cu norm_kernels.cu outermost_kernels.cu projected_attention.cu sample_mean.cu
    source_gradient_kernels.cu staged_mean.cu value_rows.cu wide_aggregate_kernels.cu
  REPLACED matmul.cc marked_product.cu normed_product.cu
  TESTS attention_kernels_gpu_test.cc first_layer_kernels_test.cc gather_kernels_test.cc outermost_kernels_test.cc wide_kernels_test.cc
  APART attention_kernels.cu outermost_kernels.cu first_layer_kernels_test.cc gather_kernels_test.cc outermost_kernels_test.cc wide_kernels_test.cc)

# Which tier keeps which feature rows, and which of them a GPU's cache has.
hone_gnn_cuda_room(features USES base graph sample kernels
  HOST cache_ranking.cc device_ranking.cc feature_storage.cc miss_path.cc
  KERNELS ranking_kernels.cu
  TESTS cache_ranking_test.cc device_ranking_test.cc)

# What a model becomes: the program that enqueues its kernels for a batch.
hone_gnn_cuda_room(lower USES base graph kernels
  HOST dense.cc gat_program.cc gin_program.cc input_norm.cc norm_between.cc plan_model.cc sage_program.cc
    sage_ri_program.cc second_stream.cc spec_attention.cc spec_layout.cc spec_own.cc spec_program.cc
  APART spec_layout.cc spec_program.cc)

# The end of a step: the loss, gradients added over shards and exchanged between ranks, the update, and copies of the state.
hone_gnn_cuda_room(update USES base graph
  HOST peer_exchange.cc snapshots.cc step_sum.cc
  KERNELS learn_kernels.cu peer_exchange_kernels.cu step_sum_kernels.cu target_loss_kernels.cu)

# Training and sampled inference: steps captured and replayed, batches fed from the host, the plan of the memory.
hone_gnn_cuda_room(engine USES base graph sample kernels features lower update
  HOST feed.cc gpu_engine.cc gpu_trainer.cc memory_plan.cc paired_epochs.cc pass.cc pass_fed.cc
  KERNELS feed_kernels.cu
  TESTS cached_features_test.cc engine_models_test.cc feed_test.cc gpu_engine_test.cc gpu_trainer_test.cc memory_plan_test.cc shards_test.cc
  APART memory_plan.cc cached_features_test.cc engine_models_test.cc)

# Inference that is not a training step without its end: exact, layer by layer, and small requests with little delay.
hone_gnn_cuda_room(infer USES base graph sample kernels lower
  HOST exact_inference.cc exact_layers.cc exact_memory.cc exact_model.cc exact_ranks.cc exact_spec.cc exact_weights.cc
    latency_mode.cc
  KERNELS exact_kernels.cu latency_kernels.cu
  TESTS exact_inference_test.cc latency_mode_test.cc
  APART exact_spec.cc exact_inference_test.cc latency_mode_test.cc)

# The public interface of all that (hone/gnn/device.h), and the check of an operation's form for a GPU.
hone_gnn_cuda_room(device USES base graph sample features engine infer
  HOST device.cc op_conformance_device.cc
  APART op_conformance_device.cc)

# Batches for frameworks of Python: sampled and gathered into memory that those allocate, behind plain C.
hone_gnn_cuda_room(loader USES base sample
  HOST c_api.cc device_loader.cc
  KERNELS device_loader_kernels.cu
  TESTS device_loader_test.cc
  APART c_api.cc)
