;; For each of `count` slots (i32, at `slots`): the dot product of its vector with the query, as a 32-bit float at `out`.
;; The query is `dims` floats at `query`, each 2^112 times too large; vectors are `dims` halves each (a multiple of eight), that of slot s at `halves` + s · 2 · dims.
;; Eight sums are made of a vector, of every eighth number each; then of eight four, of four two, and of two one, as a database server with instructions for halves does it.
;; The last of `out` is followed by 12 bytes of no use: four sums lie there for a moment.
;; The value of a half: its bits thirteen places up are a float that is 2^112 times too small, exactly. None is infinite.
(module
  (memory (export "memory") 16)
  (func (export "dots") (param $query i32) (param $halves i32) (param $dims i32) (param $slots i32) (param $count i32) (param $out i32)
    (local $size i32) (local $last i32) (local $h i32) (local $q i32) (local $a i32)
    (local $v v128) (local $s0 v128) (local $s1 v128) (local $bits v128)
    (local.set $bits (i32x4.splat (i32.const -1879056384)))
    (local.set $size (i32.shl (local.get $dims) (i32.const 1)))
    (local.set $last (i32.add (local.get $slots) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $slots) (local.get $last)))
        (local.set $a (i32.add (local.get $halves) (i32.mul (i32.load (local.get $slots)) (local.get $size))))
        (local.set $s0 (i32x4.splat (i32.const 0)))
        (local.set $s1 (i32x4.splat (i32.const 0)))
        (local.set $q (local.get $query))
        (local.set $h (i32.const 0))
        (loop $eight
          (local.set $v (v128.load (i32.add (local.get $a) (local.get $h))))
          (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (v128.load (local.get $q)) (v128.and (i32x4.shl (i32x4.extend_low_i16x8_s (local.get $v)) (i32.const 13)) (local.get $bits)))))
          (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (v128.load (i32.add (local.get $q) (i32.const 16))) (v128.and (i32x4.shl (i32x4.extend_high_i16x8_s (local.get $v)) (i32.const 13)) (local.get $bits)))))
          (local.set $q (i32.add (local.get $q) (i32.const 32)))
          (local.set $h (i32.add (local.get $h) (i32.const 16)))
          (br_if $eight (i32.lt_u (local.get $h) (local.get $size))))
        (v128.store (local.get $out) (f32x4.add (local.get $s0) (local.get $s1)))
        (f32.store (local.get $out)
          (f32.add
            (f32.add (f32.load (local.get $out)) (f32.load (i32.add (local.get $out) (i32.const 8))))
            (f32.add (f32.load (i32.add (local.get $out) (i32.const 4))) (f32.load (i32.add (local.get $out) (i32.const 12))))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
        (br $each)))))
