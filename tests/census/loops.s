// Kernels with loops of known shapes, assembled for the census.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
	.amdhsa_code_object_version 5
	.text

// Stages, meets at a barrier and multiplies; rotated, two slabs an iteration.
	.globl unrolled
	.p2align 8
	.type unrolled,@function
unrolled:
	s_load_b128 s[4:7], s[0:1], 0x0
	v_lshlrev_b32_e32 v20, 3, v0
	s_wait_kmcnt 0x0
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 .Lunrolled_out
.Lunrolled_slab:
	.rept 2
	global_load_b64 v[16:17], v20, s[4:5]
	global_load_b64 v[18:19], v20, s[4:5] offset:2048
	v_add_nc_u32_e32 v20, 4096, v20
	s_wait_loadcnt 0x1
	ds_store_b64 v20, v[16:17]
	s_wait_loadcnt 0x0
	ds_store_b64 v20, v[18:19] offset:2048
	s_barrier_signal -1
	s_barrier_wait -1
	ds_load_b128 v[8:11], v20
	s_wait_dscnt 0x0
	v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]
	v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[10:11], v[8:9], v[0:7]
	s_barrier_signal -1
	s_barrier_wait -1
	.endr
	s_sub_co_i32 s6, s6, 2
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lunrolled_slab
.Lunrolled_out:
	v_mov_b32_e32 v9, 0
	global_store_b128 v9, v[0:3], s[4:5]
	s_endpgm
.Lunrolled_end:
	.size unrolled, .Lunrolled_end-unrolled

// A staging loop inside a loop over slabs, tested at its top; each load waited for by itself.
	.globl nested
	.p2align 8
	.type nested,@function
nested:
	s_load_b128 s[4:7], s[0:1], 0x0
	s_wait_kmcnt 0x0
.Lnested_slab:
	s_cmp_eq_u32 s6, 0
	s_cbranch_scc1 .Lnested_out
	s_mov_b32 s8, 4
.Lnested_stage:
	global_load_b32 v16, v[20:21], off
	s_wait_loadcnt 0x0
	ds_store_b32 v22, v16
	s_sub_co_i32 s8, s8, 1
	s_cmp_lg_u32 s8, 0
	s_cbranch_scc1 .Lnested_stage
	s_barrier_signal -1
	s_barrier_wait -1
	ds_load_2addr_b64 v[8:11], v22 offset1:1
	s_wait_dscnt 0x0
	v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]
	v_dual_mov_b32 v12, 0 :: v_dual_mov_b32 v13, 0
	s_sub_co_i32 s6, s6, 1
	s_branch .Lnested_slab
.Lnested_out:
	s_endpgm
.Lnested_end:
	.size nested, .Lnested_end-nested

	.rodata
	.p2align 6
	.amdhsa_kernel unrolled
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 21
		.amdhsa_next_free_sgpr 8
	.end_amdhsa_kernel
	.amdhsa_kernel nested
		.amdhsa_group_segment_fixed_size 1024
		.amdhsa_private_segment_fixed_size 16
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 23
		.amdhsa_next_free_sgpr 9
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx1201
amdhsa.kernels:
  - .name: unrolled
    .symbol: unrolled.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 4096
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 8
    .vgpr_count: 21
    .max_flat_workgroup_size: 256
  - .name: nested
    .symbol: nested.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 16
    .wavefront_size: 32
    .sgpr_count: 9
    .vgpr_count: 23
    .vgpr_spill_count: 2
    .sgpr_spill_count: 1
    .max_flat_workgroup_size: 128
...
	.end_amdgpu_metadata
