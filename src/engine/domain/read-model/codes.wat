;; For each of `count` slots (i32, at `slots`): the Hamming distance of its code to the query's, as 16 bits at `out`.
;; Codes are `words` 64-bit words each; the query's at `query`, that of slot s at `codes` + s · size.
(module
  (memory (export "memory") 16)
  (func (export "distances") (param $query i32) (param $codes i32) (param $words i32) (param $slots i32) (param $count i32) (param $out i32)
    (local $size i32) (local $last i32) (local $at i32) (local $w i32) (local $distance i32)
    (local.set $size (i32.shl (local.get $words) (i32.const 3)))
    (local.set $last (i32.add (local.get $slots) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $slots) (local.get $last)))
        (local.set $at (i32.add (local.get $codes) (i32.mul (i32.load (local.get $slots)) (local.get $size))))
        (local.set $distance (i32.const 0))
        (local.set $w (i32.const 0))
        (loop $word
          (local.set $distance
            (i32.add (local.get $distance)
              (i32.wrap_i64 (i64.popcnt (i64.xor
                (i64.load (i32.add (local.get $query) (local.get $w)))
                (i64.load (i32.add (local.get $at) (local.get $w))))))))
          (local.set $w (i32.add (local.get $w) (i32.const 8)))
          (br_if $word (i32.lt_u (local.get $w) (local.get $size))))
        (i32.store16 (local.get $out) (local.get $distance))
        (local.set $out (i32.add (local.get $out) (i32.const 2)))
        (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
        (br $each)))))
