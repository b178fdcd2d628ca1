// Enables the “Compare” button of a table of proposals while the number of chosen proposals is within its limits.
"use strict";
{
  const renew = () => {
    const form = document.getElementById("comparing");
    if (!form) return;
    const { least, most } = form.dataset, chosen = form.querySelectorAll("[name=id]:checked").length;
    const fits = chosen >= least && chosen <= most;
    form.querySelector("button").disabled = !fits;
    document.getElementById("chosen").textContent = fits ? `${chosen} chosen` : `${chosen} chosen: choose ${least} to ${most}`;
  };
  document.addEventListener("change", renew);
  document.addEventListener("htmx:afterSettle", renew); // the table was replaced by a search
  addEventListener("pageshow", renew); // the browser's Back leaves boxes ticked
}
