/** A client whose calls wait as long as a test may take: its own limit, a minute, is soon over on a busy machine. */
import { Client } from "@modelcontextprotocol/client";
import { PATIENCE } from "./patience.ts";

export class PatientClient extends Client {
  override connect(...[transport, options]: Parameters<Client["connect"]>): Promise<void> {
    return super.connect(transport, { ...PATIENCE, ...options });
  }

  override callTool(...[params, options]: Parameters<Client["callTool"]>): ReturnType<Client["callTool"]> {
    return super.callTool(params, { ...PATIENCE, ...options });
  }
}
