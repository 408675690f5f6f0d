/**
 * Changes, each with a way back for some seconds. What has an opposite (forget and restore, correct) is done at once, and Undo does the opposite.
 * A confirmation and a mark are evidence that nothing takes back: they are sent when the seconds are over, or when the page is left.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { butlerPath } from "../frame/link.tsx";
import { say } from "../frame/toasts.tsx";
import { memoryPath, postJson } from "./client.ts";
import { sessionQuery } from "./queries.ts";

export interface Writes {
  confirm(id: string, text: string): void;
  mark(id: string, how: "helpful" | "harmful", reason?: string): void;
  correct(id: string, before: string, after: string, reason?: string): Promise<string | undefined>;
  forget(id: string, text: string, reason?: string): Promise<void>;
  restore(id: string, text: string): Promise<void>;
}

interface Corrected {
  readonly id: string;
  readonly status: string;
  readonly superseded_id: string | null;
  readonly contradicts_id?: string;
  readonly note?: string;
}

export const useMayWrite = (): boolean => useQuery(sessionQuery).data?.role === "admin";

const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);

export function useWrites(butler: string): Writes {
  const client = useQueryClient();
  const renew = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["butler", butler] }),
      client.invalidateQueries({ queryKey: ["fleet"] }),
    ]);
  const send = <T>(id: string, verb: string, body: object = {}, keepalive = false) =>
    postJson<T>(memoryPath(butler, `memories/${encodeURIComponent(id)}/${verb}`), body, { keepalive });
  /** Says what went wrong in the daemon's words; undefined then. */
  async function done<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      const answer = await work;
      await renew();
      return answer;
    } catch (error) {
      say({ text: error instanceof Error ? error.message : String(error), isError: true });
      return undefined;
    }
  }
  const events = (id: string) => ({ text: "its events", href: `${butlerPath(butler, `m/${id}`)}#life` });

  function later(text: string, id: string, verb: string, body: object = {}): void {
    let isTakenBack = false;
    let isSent = false;
    const sendNow = () => {
      removeEventListener("pagehide", sendNow);
      if (isTakenBack || isSent) return;
      isSent = true;
      void done(send(id, verb, body, true));
    };
    addEventListener("pagehide", sendNow);
    say({
      text,
      closed: sendNow,
      undo: () => {
        isTakenBack = true;
      },
    });
  }

  const forget: Writes["forget"] = async (id, text, reason) => {
    if ((await done(send(id, "forget", reason ? { reason } : {}))) === undefined) return;
    say({ text: `Forgotten: ${short(text)}`, link: events(id), undo: () => void restore(id, text) });
  };
  const restore: Writes["restore"] = async (id, text) => {
    if ((await done(send(id, "restore"))) === undefined) return;
    say({ text: `Back: ${short(text)}`, link: events(id), undo: () => void forget(id, text) });
  };
  return {
    forget,
    restore,
    confirm: (id, text) => later(`Confirmed: ${short(text)}`, id, "confirm"),
    mark: (id, how, reason) =>
      later(`Marked as ${how}.`, id, how, reason ? { [how === "helpful" ? "note" : "reason"]: reason } : {}),
    async correct(id, before, after, reason) {
      const answer = await done(send<Corrected>(id, "correct", { content: after, ...(reason ? { reason } : {}) }));
      if (answer === undefined) return undefined;
      const { contradicts_id, note } = answer;
      say({
        text:
          contradicts_id === undefined
            ? `Now: ${short(after)}`
            : (note ?? "Kept beside the old one, which is trusted more."),
        link: events(answer.id),
        undo: () => void done(send(answer.id, "correct", { content: before, reason: "undone" })),
      });
      return answer.id;
    },
  };
}
