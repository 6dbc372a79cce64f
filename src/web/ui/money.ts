/** Amounts of money as agents report them. */

/** "0.42 USD"; what is less than a cent is not shown as nothing. */
export function moneyText(amount: number, currency: string): string {
  const isSmall = amount > 0 && amount < 0.01;
  return `${isSmall ? amount.toPrecision(1) : amount.toFixed(2)} ${currency}`.trim();
}
