// Preloaded into a process and its worker threads: writes down which file each fsync was for, then does it.
const fs = require("node:fs");
const real = fs.fsyncSync;
fs.fsyncSync = (fd) => {
  const target = process.platform === "linux" ? fs.readlinkSync(`/proc/self/fd/${fd}`) : String(fd);
  fs.appendFileSync(process.env.FSYNC_LOG, `${target}\n`);
  return real(fd);
};
