// Asks the server that the page is from: `spc play`.

export async function ask(question) {
  const response = await fetch("api?" + encodeURIComponent(JSON.stringify(question)));
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
