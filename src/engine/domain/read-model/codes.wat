;; Of `count` slots (i32, at `slots`) those whose codes are at most `most` bits away from the query's: they take the places of the first ones, and
;; their Hamming distances stand at `out` (16 bits). The end of those at `out` is left at `end`.
;; Codes are `words` 64-bit words each; the query's at `query`, that of slot s at `codes` + s · size.
;; Codes of six words, which is what the model's vectors have, are compared without a loop over their words.
(module
  (memory (export "memory") 16)
  (func (export "distances") (param $query i32) (param $codes i32) (param $words i32) (param $slots i32) (param $count i32) (param $out i32) (param $most i32) (param $end i32)
    (local $size i32) (local $last i32) (local $near i32) (local $at i32) (local $w i32) (local $distance i32)
    (local $a i64) (local $b i64) (local $c i64) (local $d i64) (local $e i64) (local $f i64)
    (local.set $size (i32.shl (local.get $words) (i32.const 3)))
    (local.set $near (local.get $slots))
    (local.set $last (i32.add (local.get $slots) (i32.shl (local.get $count) (i32.const 2))))
    (if (i32.eq (local.get $words) (i32.const 6))
      (then
        (local.set $a (i64.load (local.get $query)))
        (local.set $b (i64.load offset=8 (local.get $query)))
        (local.set $c (i64.load offset=16 (local.get $query)))
        (local.set $d (i64.load offset=24 (local.get $query)))
        (local.set $e (i64.load offset=32 (local.get $query)))
        (local.set $f (i64.load offset=40 (local.get $query)))
        (block $over
          (loop $six
            (br_if $over (i32.ge_u (local.get $slots) (local.get $last)))
            (local.set $at (i32.add (local.get $codes) (i32.mul (i32.load (local.get $slots)) (i32.const 48))))
            (local.set $distance (i32.wrap_i64
              (i64.add (i64.popcnt (i64.xor (local.get $a) (i64.load (local.get $at))))
                (i64.add (i64.popcnt (i64.xor (local.get $b) (i64.load offset=8 (local.get $at))))
                (i64.add (i64.popcnt (i64.xor (local.get $c) (i64.load offset=16 (local.get $at))))
                (i64.add (i64.popcnt (i64.xor (local.get $d) (i64.load offset=24 (local.get $at))))
                (i64.add (i64.popcnt (i64.xor (local.get $e) (i64.load offset=32 (local.get $at))))
                (i64.popcnt (i64.xor (local.get $f) (i64.load offset=40 (local.get $at)))))))))))
            (i32.store (local.get $near) (i32.load (local.get $slots)))
            (i32.store16 (local.get $out) (local.get $distance))
            (local.set $w (i32.le_u (local.get $distance) (local.get $most)))
            (local.set $near (i32.add (local.get $near) (i32.shl (local.get $w) (i32.const 2))))
            (local.set $out (i32.add (local.get $out) (i32.shl (local.get $w) (i32.const 1))))
            (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
            (br $six)))))
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
        (i32.store (local.get $near) (i32.load (local.get $slots)))
        (i32.store16 (local.get $out) (local.get $distance))
        (local.set $w (i32.le_u (local.get $distance) (local.get $most)))
        (local.set $near (i32.add (local.get $near) (i32.shl (local.get $w) (i32.const 2))))
        (local.set $out (i32.add (local.get $out) (i32.shl (local.get $w) (i32.const 1))))
        (local.set $slots (i32.add (local.get $slots) (i32.const 4)))
        (br $each)))
    (i32.store (local.get $end) (local.get $out))))
