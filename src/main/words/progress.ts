/** Progress as a bar on a terminal, and as one line per step elsewhere. */
export interface Progress {
  show(bytesDone: number, bytesTotal: number, what: string): void;
  done(how: string): void;
}

const WIDTH = 24;

export function progressLine(title: string, stream: NodeJS.WriteStream = process.stderr): Progress {
  let shown = false;
  let lastStep = "";
  return {
    show(bytesDone, bytesTotal, what) {
      if (stream.isTTY) {
        const share = bytesTotal === 0 ? 0 : Math.min(1, bytesDone / bytesTotal);
        const bar = "#".repeat(Math.round(share * WIDTH)).padEnd(WIDTH, "·");
        stream.write(`\r\x1b[K${title} [${bar}] ${Math.round(share * 100)} %  ${what.slice(0, 48)}`);
      } else if (what !== lastStep) {
        stream.write(`${title}: ${what}\n`);
      }
      shown = true;
      lastStep = what;
    },
    done(how) {
      if (!shown) return;
      stream.write(stream.isTTY ? `\r\x1b[K${title}: ${how}\n` : `${title}: ${how}\n`);
    },
  };
}

/** Counts the seconds on a terminal; elsewhere writes one line after ten seconds. */
export function waitingLine(title: string, stream: NodeJS.WriteStream = process.stderr): { done(): void } {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    if (stream.isTTY) stream.write(`\r\x1b[K${title} … ${seconds} s`);
    else if (seconds === 10) stream.write(`${title} …\n`);
  }, 1_000);
  return {
    done() {
      clearInterval(timer);
      if (stream.isTTY && seconds > 0) stream.write("\r\x1b[K");
    },
  };
}
