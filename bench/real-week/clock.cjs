/** Loaded by Claude Code before itself (BUN_OPTIONS): its clock starts at WEEK_NOW and goes on from there. */
const Real = globalThis.Date;
const ahead = Real.parse(process.env.WEEK_NOW) - Real.now();

globalThis.Date = class MovedDate extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + ahead);
    else super(...given);
  }
  static now() {
    return Real.now() + ahead;
  }
};
