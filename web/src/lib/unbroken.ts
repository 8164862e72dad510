/** A sentence of the service in which no line ends between a number and its sign of per cent. */
export function unbroken(sentence: string): string {
  return sentence.replaceAll(/(\d) %/g, "$1\u00a0%");
}
