/**
 * The keyword rankings of a question: in one statement, which reads of the longest lists only what rarer words need, or in two where that
 * does not settle the best of them: then the second reads everything.
 */

import type { Sql } from "../../adapters/db/port.ts";
import { giveBack } from "../../adapters/lent-bytes.ts";
import { type BestFirst, bestAmong, placesAmong, readWhole } from "../../domain/ranking/words/best-first.ts";
import {
  type Postings,
  type Ranking,
  rankingOf,
  type Statistics,
  statisticsOf,
} from "../../domain/ranking/words/bm25.ts";
import { rank, type Sums, sumUp } from "../../domain/ranking/words/sums.ts";
import { fetchPostings, forwardRows, LEAVE_NOTHING, LEAVING, type Leaving } from "./lexical.ts";

export interface Rankings {
  readonly rankings: readonly BestFirst[];
  readonly statistics: Statistics;
}

/** `depthOf`: how many of each ranking will be asked for at first; more than that reads all lists. */
export async function rankWords(
  sql: Sql,
  words: readonly string[],
  groups: readonly (readonly number[])[],
  depthOf: (memories: number) => number,
  leaving: Leaving = LEAVING,
): Promise<Rankings> {
  const read = (what: Leaving) => fetchPostings(sql, words, groups.flat(), what);
  const postings = await read(leaving);
  const statistics = statisticsOf(postings);
  const wholeOf = (all: Postings) => {
    const rankings = groups.map((sks) => rank(onShelves(all, sks)));
    doneWith(all);
    return rankings;
  };
  if (postings.unread.length === 0) return { rankings: wholeOf(postings).map(readWhole), statistics };

  let reading: Promise<readonly Ranking[]> | undefined;
  const readAll = () => {
    reading ??= read(LEAVE_NOTHING).then(wholeOf);
    return reading;
  };
  const sums = groups.map((sks) => sumUp(onShelves(postings, sks)));
  doneWith(postings);
  const depth = depthOf(statistics.n);
  if (!sums.every((sum) => isSettled(sum, depth))) return { rankings: (await readAll()).map(readWhole), statistics };
  const rankings = sums.map((sum, at) => boundedRanking(sql, sum, async () => (await readAll())[at] as Ranking));
  return { rankings, statistics };
}

/** Once they are summed up lists are not read again. */
function doneWith({ blocks, unread }: Postings): void {
  for (const { x } of blocks) giveBack(x);
  for (const { slim } of unread) giveBack(slim);
}

/** Whatever was left out has less than the k-th of these. */
const isSettled = ({ postings, scores }: Sums, k: number) => postings.unread.length === 0 || k <= scores.length;

function boundedRanking(sql: Sql, sums: Sums, whole: () => Promise<Ranking>): BestFirst {
  const { postings, statistics, scores, hitAt, isAmong } = sums;
  const met = rankingOf(statistics, scores, hitAt, isAmong);
  if (postings.unread.length === 0) return readWhole(met);
  return {
    ...statistics,
    top: async (k, offset = 0) => (k <= 0 || isSettled(sums, offset + k) ? met : await whole()).top(k, offset),
    topAmong: async (k, members) =>
      bestAmong(postings, statistics, await forwardRows(sql, placesAmong(postings, members)), k, members),
    whole,
  };
}

function onShelves(postings: Postings, sks: readonly number[]): Postings {
  const own = new Set(sks);
  const mine = <T extends { readonly sk: number }>(rows: readonly T[]) => rows.filter((row) => own.has(row.sk));
  const { terms, shelves, blocks, unread, fresh, gone } = postings;
  return {
    terms,
    shelves: mine(shelves),
    blocks: mine(blocks),
    unread: mine(unread),
    fresh: mine(fresh),
    gone: mine(gone),
  };
}
