/** Names of classes as the build gives them. */
declare module "*.module.css" {
  const classes: Readonly<Record<string, string>>;
  // biome-ignore lint/style/noDefaultExport: the shape that the build gives a style sheet.
  export default classes;
}
