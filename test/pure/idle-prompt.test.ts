/** What teaches nothing, and what only looks like it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isIdle, isSmallTalk } from "../../src/engine/domain/learning/idle-prompt.ts";

const lines = (text: string): string[] => text.trim().split("\n");

const SMALL_TALK = lines(`
hi
Hello again!
good morning!
Good morning :)
hey there, good morning
thanks, that helps
Thanks a lot!
thx, bye
great work
nice!
looks good
LGTM 👍
ok thanks
right, thanks
nope, was a typo
you too, bye
lol ok
no that was all
perfect
yes
👍
2)
Guten Morgen!
hallo zusammen
danke, passt so
Vielen Dank!
alles klar, danke dir
sieht gut aus
schönen Feierabend`);

const ORDERS = lines(`
run the tests again
Run the tests again please.
can you run the tests again?
rerun the linter
commit and push
commit it
perfect, commit and push please
push
continue
go on
show me the diff
fix it
try again
run it once more
ok now run the build
run the linter and fix what it finds
/clear
/compact
/model
lass die tests nochmal laufen
zeig mir den diff
mach weiter
bitte nochmal starten`);

/** Each has a word that tells something: a name, a number, a "not", a "never", an object of its own. */
const LOOK_ALIKES = lines(`
run the tests with pnpm, never with npm
commit, but never push to main
commit and push only on Fridays
always run the tests again before you commit
don't run the tests again
run the tests on port 5433
good morning, I moved to Graz
thanks, from now on use tabs
thanks to Ada we have the key
great, use Postgres then
no, use the other branch
ok, but the port is 5544
hello world must print in German
continue with the parser
fix the parser
push to the staging remote
deploy on Thursday
perfect is the enemy of good
never
always
not like that
format dates as ISO
the tests are slow
show prices in cents
nice is the name of the server
bye is printed twice
done means merged
we commit and push daily
start the week on Monday
test everything twice, that is our rule
/tmp is cleaned every night
/etc/hosts is managed by Ansible
run tests in band
keep it short
call me Ada
my name is Mira
I prefer tabs
short answers please
stop adding comments
merge means squash here
danke, aber nimm bitte immer pnpm
guten Morgen, ich heiße Mira
nicht pushen
committe nie auf main
mach weiter mit dem Parser
tests laufen nur mit Node 20
antworte kurz`);

describe("what teaches nothing", () => {
  test.each(SMALL_TALK)("small talk: %s", (text) => {
    expect(isSmallTalk(text)).toBe(true);
    expect(isIdle(text)).toBe(true);
  });
  test.each(ORDERS)("for the moment: %s", (text) => {
    expect(isIdle(text)).toBe(true);
  });
  test.each(LOOK_ALIKES)("teaches something: %s", (text) => {
    expect(isIdle(text)).toBe(false);
    expect(isSmallTalk(text)).toBe(false);
  });

  test("however much politeness surrounds it", () => {
    const polite = fc.constantFrom(...SMALL_TALK.filter((text) => /^[\p{L} ,!.]+$/u.test(text)));
    fc.assert(
      fc.property(polite, polite, fc.constantFrom(...LOOK_ALIKES), (before, after, statement) => {
        expect(isIdle(`${before}. ${after}`)).toBe(true);
        expect(isIdle(`${before}. ${statement}. ${after}`)).toBe(false);
      }),
    );
  });

  test("a name or a number makes any order worth looking at", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ORDERS),
        fc.constantFrom("Petra", "5433", "never", "nicht", "kassa"),
        (order, word) => {
          expect(isIdle(`${order} ${word}`) && !order.startsWith("/")).toBe(false);
        },
      ),
    );
  });
});
