;; Adds the weights of a word to the sums of the slots that have it: those of engine/domain/ranking/words/bm25.ts, to the last bit.
;; Entries (i32, from `entries` to `last`) are slot · 256 + tf; the length of slot s is at `lengths` + 2 s (u16), its sum at `sums` + 8 s (f64).
;; A slot whose sum was 0 is noted at `met` (i32); where the next one is to be noted is left at 56.
;; At 0 (f64): what a tf is multiplied by, how often the word is asked for, what is added to a tf, what a length is multiplied by and then
;; divided by, and a 0. At 64: the weights in memories of 0 to 255 lexemes that have the word once, 0 where it is not known yet.
(module
  (memory (export "memory") 1)
  (func (export "add") (param $entries i32) (param $last i32) (param $lengths i32) (param $sums i32) (param $met i32)
    (local $entry i32) (local $slot i32) (local $len i32) (local $cell i32) (local $at i32)
    (local $tf f64) (local $weight f64) (local $held f64)
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $entries) (local.get $last)))
        (local.set $entry (i32.load (local.get $entries)))
        (local.set $slot (i32.shr_u (local.get $entry) (i32.const 8)))
        (local.set $len (i32.load16_u (i32.add (local.get $lengths) (i32.shl (local.get $slot) (i32.const 1)))))
        (local.set $entry (i32.and (local.get $entry) (i32.const 255)))
        (local.set $cell (i32.const 40))
        (if (i32.and (i32.eq (local.get $entry) (i32.const 1)) (i32.lt_u (local.get $len) (i32.const 256)))
          (then (local.set $cell (i32.add (i32.const 64) (i32.shl (local.get $len) (i32.const 3))))))
        (local.set $weight (f64.load (local.get $cell)))
        (if (f64.eq (local.get $weight) (f64.const 0))
          (then
            (local.set $tf (f64.convert_i32_u (local.get $entry)))
            (local.set $weight
              (f64.mul (f64.load (i32.const 8))
                (f64.max (f64.const 1)
                  (f64.floor
                    (f64.add
                      (f64.div
                        (f64.mul (f64.load (i32.const 0)) (local.get $tf))
                        (f64.add
                          (f64.add (local.get $tf) (f64.load (i32.const 16)))
                          (f64.div
                            (f64.mul (f64.load (i32.const 24)) (f64.convert_i32_u (local.get $len)))
                            (f64.load (i32.const 32)))))
                      (f64.const 0.5))))))
            (f64.store (local.get $cell) (local.get $weight))
            (f64.store (i32.const 40) (f64.const 0))))
        (local.set $at (i32.add (local.get $sums) (i32.shl (local.get $slot) (i32.const 3))))
        (local.set $held (f64.load (local.get $at)))
        ;; Not a branch, which would be guessed wrong every other time.
        (i32.store (local.get $met) (local.get $slot))
        (local.set $met (i32.add (local.get $met) (i32.shl (f64.eq (local.get $held) (f64.const 0)) (i32.const 2))))
        (f64.store (local.get $at) (f64.add (local.get $held) (local.get $weight)))
        (local.set $entries (i32.add (local.get $entries) (i32.const 4)))
        (br $each)))
    (i32.store (i32.const 56) (local.get $met))))
